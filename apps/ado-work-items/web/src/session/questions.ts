import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import type { ElicitRequestFormParams } from '@x/schema'

/** A question that waits for the user's answer. */
export interface OpenQuestion {
  readonly id: number
  readonly question: ElicitRequestFormParams
  readonly context: InputContext
  answer(answer: ElicitAnswer): void
}

/** The queue of the server's questions. One question is shown at a time. */
export interface Questions {
  readonly current: ReadonlySignal<OpenQuestion | undefined>
  /** The number of questions behind the current one. */
  readonly waiting: ReadonlySignal<number>
  readonly ask: NonNullable<InputHandlers['elicit']>
}

/** Creates the queue. A question leaves it when it is answered, or when its call is cancelled. */
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
