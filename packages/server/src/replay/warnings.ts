import { quote } from '../request/scope.ts'
import type { WarningCode } from '../server-warning.ts'
import type { Run } from './run.ts'

/** What is wrong with a handler, in words that follow its name, and for which key. */
export interface Problem {
  readonly code: WarningCode
  readonly problem: string
  readonly key?: string | undefined
}

/** Tells the author of a fault in a handler, though the call goes on. */
export function warn(run: Run, { code, problem, key }: Problem): void {
  const { method, settings } = run.scope
  const where = { method, name: run.name }
  settings.warn({ code, message: `${method} ${quote(run.name)} ${problem}`, where, key })
}
