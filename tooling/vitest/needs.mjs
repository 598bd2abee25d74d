import { describe, test } from 'vitest'
import { findProgram, programs } from './programs.mjs'
import { isNight, testSeed } from './scope.mjs'

export { isNight, testSeed }

/**
 * Finds a program on this machine.
 * @param {string} name
 */
export function needs(name) {
  if (!programs.has(name)) throw new Error(`Unknown program "${name}": add it to tooling/vitest/programs.mjs`)
  const path = findProgram(name)
  return path === undefined ? { available: false, path: '' } : { available: true, path }
}

/**
 * A `describe` whose tests run against a program. If the program is missing, the tests are skipped with the reason in
 * the title. In CI, where all programs are installed, they fail.
 * @param {string} name
 * @param {string} title
 * @param {(path: string) => void} define Receives the program's path.
 */
export function describeNeeding(name, title, define) {
  const { available, path } = needs(name)
  if (available) {
    describe(title, () => define(path))
    return
  }
  const install = programs.get(name)?.install
  if (isRequired()) {
    describe(title, () => {
      test(`${name} is installed`, () => {
        throw new Error(`${name} is missing, and no test may be skipped here: run apt-get install ${install}`)
      })
    })
    return
  }
  describe.skipIf(true)(`${title} (skipped: ${name} is not installed, apt-get install ${install})`, () => define(path))
}

/**
 * Returns the size of a test of chance: a small one for each change, the whole at night.
 * @param {{ change: number, night: number }} sizes
 */
export function sizeOf({ change, night }) {
  return isNight ? night : change
}

function isRequired() {
  const { CI = '', MCP_TEST_REQUIRE = '' } = process.env
  return [CI, MCP_TEST_REQUIRE].some((value) => value !== '' && value !== '0' && value !== 'false')
}
