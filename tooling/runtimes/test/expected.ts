import { connectHttp } from '@x/transport-http/client'
import { checkNames, type Outcomes, runChecks } from '../src/checks.ts'

/** The outcomes of a runtime that passes all checks. */
export const allPassed: Outcomes = Object.fromEntries(checkNames.map((name) => [name, 'passed']))

/** Runs the checks with a client in this process against a server. */
export async function checkServer(url: string): Promise<Outcomes> {
  await using connection = connectHttp(url, { retry: false })
  return await runChecks(connection)
}
