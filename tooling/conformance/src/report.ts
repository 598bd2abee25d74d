import type { ScenarioResult } from './evaluate-scenario.ts'

/** Returns the line of a scenario: the outcome, the number of successful checks, and the first failure. */
export function formatResult({ scenario, outcome, succeeded, made, skipped, detail }: ScenarioResult): string {
  const checks = skipped === 0 ? `${succeeded}/${made} checks` : `${succeeded}/${made} checks, ${skipped} skipped`
  const line = `${outcome.padEnd(14)} ${scenario} (${checks})`
  return detail === undefined ? line : `${line} ${detail}`
}

/** Returns the last line of a run: the numbers of passing scored scenarios and of other passing scenarios. */
export function formatSummary(title: string, results: readonly ScenarioResult[]): string {
  const passed = (some: readonly ScenarioResult[]): string =>
    `${some.filter(({ outcome }) => outcome === 'pass').length}/${some.length}`
  const scored = results.filter((result) => result.scored)
  const others = results.filter((result) => !result.scored)
  return `${title}: ${passed(scored)} scored, ${passed(others)} others`
}
