import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import type { ElicitRequestFormParams } from '@x/schema'

/** A question that waits for its person. */
export interface OpenQuestion {
  readonly id: number
  readonly question: ElicitRequestFormParams
  readonly context: InputContext
  answer(answer: ElicitAnswer): void
}

/** The questions of a server, one shown at a time however many came at once. */
export interface Questions {
  readonly current: ReadonlySignal<OpenQuestion | undefined>
  /** The number of questions behind the current one. */
  readonly waiting: ReadonlySignal<number>
  readonly ask: NonNullable<InputHandlers['elicit']>
}

/** Opens the queue. A question leaves it when it is answered, and when its call no longer waits for the answer. */
export function createQuestions(): Questions {
  const open = signal<readonly OpenQuestion[]>([])
  let lastId = 0
  const ask = (question: ElicitRequestFormParams, context: InputContext): Promise<ElicitAnswer> =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      const leave = (): void => {
        context.signal.removeEventListener('abort', abandon)
        open.value = open.value.filter((one) => one.id !== id)
      }
      const abandon = (): void => {
        leave()
        reject(context.signal.reason)
      }
      const answer = (given: ElicitAnswer): void => {
        leave()
        resolve(given)
      }
      context.signal.addEventListener('abort', abandon)
      open.value = [...open.value, { id, question, context, answer }]
    })
  return {
    current: computed(() => open.value[0]),
    waiting: computed(() => Math.max(0, open.value.length - 1)),
    ask,
  }
}
