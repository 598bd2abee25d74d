import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { JsonObject } from '@x/schema'
import { explainFailure } from './explain-failure.ts'
import type { RecordedClient } from './messages.ts'
import type { Questions } from './questions.ts'
import { textIn } from './result-text.ts'
import { type Outcome, type Run, withAnswer, withRound } from './run.ts'
import { showAnswer } from './show-answer.ts'

/** The calls of this page, and the current one. */
export interface Calls {
  /** The calls, the latest first. */
  readonly runs: ReadonlySignal<readonly Run[]>
  readonly isRunning: ReadonlySignal<boolean>
  /** Calls a tool. Never rejects: an error becomes the outcome of the run. */
  call(tool: string, args: JsonObject, revision?: Revision): Promise<void>
  /** Cancels the current call, if there is one. */
  stop(): void
}

/** The revision of the protocol that a call uses. */
export type Revision = '2026-07-28' | '2025-11-25'

/** The client for each revision. */
export type OpenClient = (revision: Revision) => Promise<RecordedClient>

const maxRuns = 20

/** Creates the record of calls. Calls run one at a time, and their rounds are recorded. */
export function createCalls(openClient: OpenClient, questions: Questions): Calls {
  const runs = signal<readonly Run[]>([])
  const isRunning = computed(() => runs.value[0] !== undefined && runs.value[0].outcome === undefined)
  let running = new AbortController()
  let lastId = 0

  const change = (id: number, by: (run: Run) => Run): void => {
    runs.value = runs.value.map((run) => (run.id === id ? by(run) : run))
  }

  const outcomeOf = async ({ id, tool, args }: Run, revision: Revision): Promise<Outcome> => {
    try {
      const { client, takeMessages } = await openClient(revision)
      client.rounds.watch(running.signal, (view) => change(id, (run) => withRound(run, view, takeMessages())))
      const result = await client.callTool(tool, args, {
        signal: running.signal,
        elicit: async (question, context) => {
          const answer = await questions.ask(question, context)
          change(id, (run) => withAnswer(run, { round: context.round, key: context.key, answer: showAnswer(answer) }))
          return answer
        },
      })
      const text = textIn(result.content)
      return result.isError === true
        ? { kind: 'rejected', text }
        : { kind: 'done', text, structured: result.structuredContent }
    } catch (error) {
      return { kind: running.signal.aborted ? 'stopped' : 'failed', text: explainFailure(error) }
    }
  }

  const call: Calls['call'] = async (tool, args, revision = '2026-07-28') => {
    if (isRunning.value) return
    running = new AbortController()
    const run: Run = { id: ++lastId, tool, args, startedAt: Date.now(), rounds: [] }
    runs.value = [run, ...runs.value.slice(0, maxRuns - 1)]
    const outcome = await outcomeOf(run, revision)
    change(run.id, (ended) => ({ ...ended, outcome }))
  }
  return { runs, isRunning, call, stop: () => running.abort() }
}
