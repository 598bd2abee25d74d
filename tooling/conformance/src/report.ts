import type { Verdict } from './judge.ts'

/** One line on a scenario: the outcome, how many checks succeeded, and the first that did not. */
export function verdictLine({ scenario, outcome, succeeded, made, skipped, detail }: Verdict): string {
  const checks = skipped === 0 ? `${succeeded}/${made} checks` : `${succeeded}/${made} checks, ${skipped} skipped`
  const line = `${outcome.padEnd(14)} ${scenario} (${checks})`
  return detail === undefined ? line : `${line} ${detail}`
}

/** The last line of a run: how many of the scored scenarios pass, and how many of the others. */
export function summaryLine(title: string, verdicts: readonly Verdict[]): string {
  const passed = (some: readonly Verdict[]): string =>
    `${some.filter(({ outcome }) => outcome === 'pass').length}/${some.length}`
  const scored = verdicts.filter((verdict) => verdict.scored)
  const others = verdicts.filter((verdict) => !verdict.scored)
  return `${title}: ${passed(scored)} scored, ${passed(others)} others`
}
