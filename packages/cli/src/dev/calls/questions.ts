import { pathToFileURL } from 'node:url'
import type { ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import { BoundedMap } from '@x/core'
import type { CreateMessageRequestParams, ElicitRequestFormParams, ElicitRequestURLParams } from '@x/schema'
import type { EventLog } from '../event-log.ts'
import type { QuestionView } from '../events.ts'
import { toJson } from './to-json.ts'

/** Remembered, to say why a question is asked again. */
const maxLastQuestions = 1000

/** Questions that wait for an answer. They live in the command, so a page that is loaded again shows them. */
export class Questions {
  readonly #log: EventLog
  readonly #getCallId: () => number | undefined
  readonly #open = new Map<number, (answer: ElicitAnswer) => void>()
  readonly #lastByKey = new BoundedMap<string, QuestionView>(maxLastQuestions)
  #lastId = 0

  constructor(log: EventLog, getCallId: () => number | undefined) {
    this.#log = log
    this.#getCallId = getCallId
  }

  /** For the client that the page uses. */
  readonly handlers: Required<InputHandlers> = {
    elicit: (question: ElicitRequestFormParams, context: InputContext) =>
      this.#ask({ kind: 'form', message: question.message, schema: question.requestedSchema }, context),
    openUrl: ({ message, url }: ElicitRequestURLParams, context: InputContext) =>
      this.#ask({ kind: 'url', message, url }, context),
    // The user is the model: writes what it would answer.
    sample: async (params: CreateMessageRequestParams, context: InputContext) => {
      const message = 'The server asks a model. Write what it answers.'
      const { action, content = {} } = await this.#ask({ kind: 'sampling', message, sampling: toJson(params) }, context)
      if (action !== 'accept') throw new Error('The user rejected the request of a model')
      const { text = '', model = 'by-hand', stopReason = 'endTurn' } = content
      return {
        role: 'assistant',
        content: { type: 'text', text: String(text) },
        model: String(model),
        stopReason: String(stopReason),
      }
    },
    roots: () => [{ uri: pathToFileURL(process.cwd()).href }],
  }

  /** False if the question is not open any more. */
  answer(id: number, answer: ElicitAnswer): boolean {
    const give = this.#open.get(id)
    give?.(answer)
    return give !== undefined
  }

  #ask(
    question: Pick<QuestionView, 'kind' | 'message'> & Partial<QuestionView>,
    { key, target, signal }: InputContext,
  ): Promise<ElicitAnswer> {
    this.#lastId += 1
    const callId = this.#getCallId() ?? 0
    const own = { id: this.#lastId, callId, key, target }
    const asked = { schema: undefined, url: undefined, sampling: undefined, ...question, ...own }
    const handlerKey = `${callId} ${key.replace(/~\d+$/, '')}`
    const view: QuestionView = { ...asked, again: reasonToAskAgain(asked, this.#lastByKey.get(handlerKey)) }
    this.#lastByKey.set(handlerKey, view)
    return new Promise((resolve, reject) => {
      const close = (): void => {
        signal.removeEventListener('abort', abandon)
        this.#open.delete(view.id)
        this.#log.append({ type: 'question', question: view, isOpen: false })
      }
      const abandon = (): void => {
        close()
        reject(signal.reason)
      }
      signal.addEventListener('abort', abandon)
      this.#open.set(view.id, (answer) => {
        close()
        resolve(answer)
      })
      this.#log.append({ type: 'question', question: view, isOpen: true })
    })
  }
}

type Asked = Pick<QuestionView, 'kind' | 'message' | 'schema' | 'url'>

/**
 * Compares a question with the one that had its key before: a server adds what was wrong with an answer to the message.
 */
function reasonToAskAgain(asked: Asked, earlier: Asked | undefined): string | undefined {
  if (earlier === undefined) return undefined
  const change = (what: string): string => `its ${what} changed between two runs: read what it depends on in a step`
  if (!asked.message.startsWith(earlier.message)) return `${change('message')}. It was "${earlier.message}"`
  if (JSON.stringify(asked.schema) !== JSON.stringify(earlier.schema)) return change('schema')
  if (asked.url !== earlier.url) return change('URL')
  return asked.kind === 'url' ? 'its page is not done' : 'the answer did not fit its schema'
}
