/** A program that some tests run against. */
export type Need = 'redis' | 'haproxy' | 'nginx' | 'caddy' | 'systemd' | 'chromium'

/** Finds a program on this machine. The path is empty if the program is missing. */
export function needs(name: Need): { readonly available: boolean; readonly path: string }

/**
 * A `describe` whose tests run against a program. If the program is missing, the tests are skipped with the reason in
 * the title. With `CI` or `MCP_TEST_REQUIRE` set they fail.
 */
export function describeNeeding(name: Need, title: string, define: (path: string) => void): void

/** True in the run of the night, and with `NIGHT=1 npm test -- PACKAGE WORD`. */
export const isNight: boolean

/**
 * The seed of tests of chance: the same one for each change, and a new one each night. `MCP_TEST_SEED` repeats it.
 * Property tests have it without asking.
 */
export const testSeed: number

/** Returns the size of a test of chance: a small one for each change, the whole at night. */
export function sizeOf(sizes: { readonly change: number; readonly night: number }): number
