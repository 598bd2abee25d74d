import { sleep } from '@x/core'
import type { Exchange, ExtensionHost, Implementation } from '@x/schema'
import type { LegacySettings } from './options.ts'
import { createQuestionStates, type QuestionStates } from './question-state.ts'
import { createQuestionRegistry, type QuestionRegistry } from './question-registry.ts'

/** Dependencies that the parts of the adapters share. */
export interface Deps {
  readonly exchange: Exchange
  readonly serverInfo: Implementation
  readonly settings: LegacySettings
  readonly questions: QuestionRegistry
  /** Seals the `state` of questions; undefined where it is off. */
  readonly questionStates: QuestionStates | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly reportError: (error: unknown) => void
  /** Runs a function once after so many milliseconds; the returned function cancels that. */
  readonly schedule: (run: () => void, ms: number) => () => void
  /** Resolves after so many milliseconds; rejects with the signal's reason when it aborts before. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Joins what a server gives with the settings of the extension. */
export function createDeps({ exchange, info, runtime, report }: ExtensionHost, settings: LegacySettings): Deps {
  const schedule: Deps['schedule'] = (run, ms) => {
    const timer = runtime.setTimeout(run, ms)
    return () => runtime.clearTimeout(timer)
  }
  return {
    exchange,
    serverInfo: info,
    settings,
    questions: createQuestionRegistry(),
    questionStates: createQuestionStates(settings),
    now: runtime.now,
    reportError: report,
    schedule,
    sleep: (ms, signal) => sleep(ms, { clock: runtime, signal }),
  }
}
