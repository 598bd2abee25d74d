import { connectHttp } from '@x/transport-http/client'
import { checkNames, type Outcomes, runChecks } from '../src/checks.ts'

/** The outcomes of a runtime that does everything. */
export const allPassed: Outcomes = Object.fromEntries(checkNames.map((name) => [name, 'passed']))

/** Runs the checks of our client on this Node against a server. */
export async function checkServer(url: string): Promise<Outcomes> {
  await using connection = connectHttp(url, { retry: false })
  return await runChecks(connection)
}
