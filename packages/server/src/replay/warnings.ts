import { quote } from './served-request.ts'
import type { WarningCode } from '../request/server-warning.ts'
import type { Run } from './run.ts'

/** A problem of a handler, in words that follow its name, and the key. */
export interface ReplayProblem {
  readonly code: WarningCode
  readonly problem: string
  readonly key?: string | undefined
}

/** Warns the author of a problem in a handler, though the call continues. */
export function warn(run: Run, { code, problem, key }: ReplayProblem): void {
  const { method, settings } = run.request
  const where = { method, name: run.name }
  settings.warn({ code, message: `${method} ${quote(run.name)} ${problem}`, where, key })
}
