// SPDX-License-Identifier: Apache-2.0
// The budget ledger: bytes in, bytes out; days since 1970-01-01 UTC. Store the new bytes durably
// before randomizing. Depends on an instance of the module only; ledger_sum.js reads more of the
// bytes.

/**
 * @typedef {object} Module what the ledger uses of an instance; device.js has it
 * @property {any} x the exports
 * @property {number} base
 * @property {(n: number) => Uint8Array} reserve
 * @property {(bytes: Uint8Array, offset?: number) => void} put
 * @property {(offset: number, len: number) => Uint8Array} take
 * @property {(result: number) => number} length
 * @property {(err: number) => void} check
 * @property {(number: number) => Error & {code: string, number: number}} error
 *
 * @typedef {{handle: number}} Recipe of the same module
 *
 * @typedef {object} RecipeSet what the pages of an origin may ask
 * @property {Recipe[]} recipes runs too: an epoch of a run stands for its run
 * @property {{handle: number}} [policy] of the same module
 * @property {{epsMicro: bigint, days: number}} [budget]
 */

export class Ledger {
  /** @param {Module} module */
  constructor(module) {
    /** @protected */ this.module = module;
  }

  /** An empty ledger made on `day`. @param {number} day @returns {Uint8Array} */
  init(day) {
    const { module } = this;
    const cap = module.x.ledger_size_max();
    module.reserve(cap);
    return module.take(0, module.length(module.x.ledger_init(module.base, cap, day)));
  }

  /**
   * Calls an export that changes the ledger; returns the new bytes or throws its error.
   * @param {string} name
   * @param {Uint8Array} ledger
   * @param {...any} rest
   * @returns {Uint8Array}
   */
  change(name, ledger, ...rest) {
    const { module } = this;
    const { x, base } = module;
    const cap = x.ledger_size_max();
    module.reserve(cap);
    module.put(ledger);
    return module.take(0, module.length(x[name](base, ledger.length, cap, ...rest)));
  }

  /**
   * Pays for all of `reports`, or throws budget, cap, fresh, expired or ledger.
   * @param {Uint8Array} ledger
   * @param {Recipe} recipe
   * @param {number} day
   * @param {number} [reports]
   */
  debit(ledger, recipe, day, reports = 1) {
    return this.change('ledger_debit', ledger, recipe.handle, day, reports);
  }

  /**
   * Returns null if a debit of one report would succeed, else the error that it would throw.
   * @param {Uint8Array} ledger @param {Recipe} recipe @param {number} day @returns {(Error & {code: string, number: number}) | null}
   */
  refusal(ledger, recipe, day) {
    const { module } = this;
    module.put(ledger);
    const err = module.x.ledger_allows(module.base, ledger.length, recipe.handle, day);
    return err ? module.error(err) : null;
  }

  /**
   * Reserves a set for a day, and notes its budget.
   * @param {Uint8Array} ledger
   * @param {RecipeSet} set
   * @param {number} day
   */
  reserve(ledger, set, day) {
    this.fill(set);
    return this.change('ledger_reserve', ledger, day);
  }

  /** Hands a set to the module. @param {RecipeSet} set */
  fill({ recipes, policy, budget }) {
    const { module } = this;
    module.check(module.x.set_start(budget?.epsMicro ?? 0n, budget?.days ?? 0));
    for (const { handle } of recipes) module.check(module.x.set_add(handle));
    if (policy) module.check(module.x.set_add_policy(policy.handle));
  }
}
