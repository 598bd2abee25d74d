import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '@x/client'
import type { JsonObject } from '@x/schema'
import type { RoundWatch } from '../../../src/walk-through/round-watch.ts'
import { explainFailure } from './explain-failure.ts'
import type { RecordedExchange } from './messages.ts'
import type { Questions } from './questions.ts'
import { textIn } from './result-text.ts'
import { type Outcome, type Run, withAnswer, withRound } from './run.ts'
import { showAnswer } from './show-answer.ts'

/** The calls that were made from this page, and the one that runs. */
export interface Calls {
  /** The last one first. */
  readonly runs: ReadonlySignal<readonly Run[]>
  readonly isRunning: ReadonlySignal<boolean>
  /** Calls a tool; never rejects, because what goes wrong is the run's outcome. */
  call(tool: string, args: JsonObject): Promise<void>
  /** Gives up the call that runs, if one does. */
  stop(): void
}

const kept = 20

/** Makes calls one at a time, and keeps a record of their rounds. */
export function createCalls(
  client: Client & { readonly rounds: RoundWatch },
  questions: Questions,
  messages: Pick<RecordedExchange, 'last'>,
): Calls {
  const runs = signal<readonly Run[]>([])
  const isRunning = computed(() => runs.value[0] !== undefined && runs.value[0].outcome === undefined)
  let running = new AbortController()
  let lastId = 0

  const change = (id: number, by: (run: Run) => Run): void => {
    runs.value = runs.value.map((run) => (run.id === id ? by(run) : run))
  }

  const outcomeOf = async ({ id, tool, args }: Run): Promise<Outcome> => {
    client.rounds.watch(running.signal, (view) => change(id, (run) => withRound(run, view, messages.last(tool))))
    try {
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
        ? { kind: 'refused', text }
        : { kind: 'done', text, structured: result.structuredContent }
    } catch (error) {
      return { kind: running.signal.aborted ? 'stopped' : 'failed', text: explainFailure(error) }
    }
  }

  const call = async (tool: string, args: JsonObject): Promise<void> => {
    if (isRunning.value) return
    running = new AbortController()
    const run: Run = { id: ++lastId, tool, args, startedAt: Date.now(), rounds: [] }
    runs.value = [run, ...runs.value.slice(0, kept - 1)]
    const outcome = await outcomeOf(run)
    change(run.id, (ended) => ({ ...ended, outcome }))
  }
  return { runs, isRunning, call, stop: () => running.abort() }
}
