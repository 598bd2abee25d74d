import { afterAll, afterEach } from 'vitest'

const methods = /** @type {const} */ (['log', 'info', 'warn', 'error', 'debug', 'trace', 'table', 'dir'])

/** @type {string[]} */
let stray = []

// A stray console call is noise in a user's process, so it fails the test that made it. The methods are replaced before
// the test file is imported: a call at import time counts too. A test that expects a call spies on the method itself.
for (const method of methods) {
  console[method] = (/** @type {unknown[]} */ ...values) => {
    stray.push(`console.${method}(${values.map(String).join(', ')})`)
  }
}

function refuseStray() {
  const calls = stray
  stray = []
  if (calls.length === 0) return
  throw new Error(`${calls.join('\n')}\nwas called: spy on it in the test that expects it, or remove the call`)
}

afterEach(refuseStray)
afterAll(refuseStray)
