/** A program that some tests run against. */
export type Need = 'redis' | 'haproxy' | 'nginx' | 'caddy' | 'systemd' | 'chromium'

/** Finds a program on this machine; the path is empty when it is absent. */
export function needs(name: Need): { readonly available: boolean; readonly path: string }

/**
 * A `describe` whose tests run against a program. Where the program is missing they are skipped, and the title says
 * why; with `CI` or `MCP_TEST_REQUIRE` set that is a failure.
 */
export function describeNeeding(name: Need, title: string, define: (path: string) => void): void
