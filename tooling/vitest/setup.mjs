import fc from 'fast-check'
import { afterAll, afterEach } from 'vitest'
import { testSeed } from './scope.mjs'

fc.configureGlobal({ seed: testSeed })

const methods = /** @type {const} */ (['log', 'info', 'warn', 'error', 'debug', 'trace', 'table', 'dir'])

/** @type {string[]} */
let strayCalls = []

// An unexpected console call pollutes the output of a user's process, so it fails its test. The methods are replaced
// before the test file is imported, so that a call at import time counts too. A test that expects a call spies on the
// method.
for (const method of methods) {
  console[method] = (/** @type {unknown[]} */ ...values) => {
    if (method === 'error' && isErrorLine(values[0])) return
    strayCalls.push(`console.${method}(${values.map(String).join(', ')})`)
  }
}

/**
 * Returns true for the line that a package prints for an error if its options have no `log`. Most tests that cause an
 * error do not check it. A test of the line spies on the method.
 *
 * @param {unknown} value
 */
function isErrorLine(value) {
  return typeof value === 'string' && /^@x\/[a-z-]+: /.test(value)
}

function rejectStrayCalls() {
  const calls = strayCalls
  strayCalls = []
  if (calls.length === 0) return
  throw new Error(`${calls.join('\n')}\nwas called: spy on the method in a test that expects it, or remove the call`)
}

afterEach(rejectStrayCalls)
afterAll(rejectStrayCalls)
