// SPDX-License-Identifier: Apache-2.0
// A small router, in place of that of your framework.

const PAGES = [
  [/^\/$/, () => 'Start'],
  [/^\/about$/, () => 'About'],
  [/^\/products\/([^/]+)$/, (id) => `Product ${id}`],
];

function show() {
  const found = PAGES.find(([path]) => path.test(location.pathname));
  const title = found ? found[1](...found[0].exec(location.pathname).slice(1)) : 'Not here';
  document.querySelector('#page').textContent = title;
}

/** Turns clicks on links into changes of the route, and shows the route's page. */
export function startRouter() {
  addEventListener('popstate', show);
  document.querySelector('nav').addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (!link || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    show();
  });
  show();
}
