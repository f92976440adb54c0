// SPDX-License-Identifier: Apache-2.0
// Completion scripts of the commands in JavaScript, from the options and actions that their --help
// lists; tests/release/commands.test.mjs holds --help to what they read. Those of shoal itself are
// printed by `shoal completion`.
import { execFileSync } from 'node:child_process';

/** @typedef {{name: string, actions: string[], options: {name: string, letter?: string, hasValue: boolean}[]}} Command */

/** What a --help lists. @param {string} name @param {string} help @returns {Command} */
export function readHelp(name, help) {
  const lines = help.split('\n');
  const options = lines.flatMap((line) => {
    const [, letter, option, value] =
      /^ {2,}(?:-([a-z]), )? *--([a-z][a-z-]*)( [A-Z]\S*)?/.exec(line) ?? [];
    return option ? [{ name: option, letter, hasValue: value !== undefined }] : [];
  });
  const usage = new RegExp(`^(?:usage:)?\\s+${name} ([a-z][a-z-]+)\\b`, 'i');
  const actions = lines
    .slice(0, lines.indexOf(''))
    .flatMap((line) => usage.exec(line.trimEnd())?.[1] ?? []);
  return { name, actions: [...new Set(actions)], options };
}

/** @param {string} name @param {string} program its file */
export const commandOf = (name, program) =>
  readHelp(name, execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' }));

/** @param {Command['options'][number]} option */
const spelled = ({ name, letter }) => `--${name}${letter ? ` -${letter}` : ''}`;

/** @param {Command} command */
const functionName = ({ name }) => `_${name.replaceAll('-', '_')}`;

/** @param {Command} command */
export function bash(command) {
  const options = command.options.map(spelled).join(' ');
  const values = command.options.filter(({ hasValue }) => hasValue).map(spelled);
  return `# bash completion for ${command.name}
${functionName(command)}() {
    local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [[ ' ${values.join(' ')} ' == *" $previous "* ]]; then
        return
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W '${options}' -- "$current"))
    elif [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '${command.actions.join(' ')}' -- "$current"))
    fi
}
complete -o default -F ${functionName(command)} ${command.name}
`;
}

/** @param {Command} command */
export function zsh(command) {
  const values = command.options.filter(({ hasValue }) => hasValue).map(spelled);
  const call = functionName(command);
  return `#compdef ${command.name}
# zsh completion for ${command.name}
${call}() {
    local -a values=(${values.join(' ')})
    if (( $values[(Ie)$words[CURRENT-1]] )); then
        _files
    elif [[ $PREFIX == -* ]]; then
        compadd -- ${command.options.map(spelled).join(' ')}
    else
        (( CURRENT == 2 )) && compadd -- ${command.actions.join(' ')}
        _files
    fi
}
if [[ $funcstack[1] == ${call} ]]; then ${call} "$@"; else compdef ${call} ${command.name}; fi
`;
}

/** @param {Command} command */
export function fish(command) {
  const options = command.options.map(
    ({ name, letter, hasValue }) =>
      `complete -c ${command.name} -l ${name}${letter ? ` -s ${letter}` : ''}${hasValue ? ' -r -F' : ''}\n`,
  );
  const actions = command.actions.map(
    (action) => `complete -c ${command.name} -n __fish_use_subcommand -a ${action}\n`,
  );
  return `# fish completion for ${command.name}\n${[...options, ...actions].join('')}`;
}
