/** The test files that a run leaves out, by what the run is for (`MCP_TEST_SCOPE`). */
export const leftOut: Readonly<Record<string, { patterns: readonly string[]; matches: (file: string) => boolean }>>

/** True in the run of the night, and with `NIGHT=1 npm test -- PACKAGE WORD`. */
export const isNight: boolean
