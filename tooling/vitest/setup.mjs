import { afterAll, afterEach } from 'vitest'

const methods = /** @type {const} */ (['log', 'info', 'warn', 'error', 'debug', 'trace', 'table', 'dir'])

/** @type {string[]} */
let stray = []

// A stray console call is noise in a user's process, so it fails the test that made it. The methods are replaced before
// the test file is imported: a call at import time counts too. A test that expects a call spies on the method itself.
for (const method of methods) {
  console[method] = (/** @type {unknown[]} */ ...values) => {
    if (method === 'error' && isErrorLine(values[0])) return
    stray.push(`console.${method}(${values.map(String).join(', ')})`)
  }
}

/**
 * Returns true for the line that a package writes about an error whose author gave no `log`. Most tests that
 * provoke an error do not care; one about the line spies on the method.
 *
 * @param {unknown} value
 */
function isErrorLine(value) {
  return typeof value === 'string' && /^@x\/[a-z-]+: /.test(value)
}

function refuseStray() {
  const calls = stray
  stray = []
  if (calls.length === 0) return
  throw new Error(`${calls.join('\n')}\nwas called: spy on it in the test that expects it, or remove the call`)
}

afterEach(refuseStray)
afterAll(refuseStray)
