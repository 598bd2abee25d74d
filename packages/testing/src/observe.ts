import type { Progress } from '@x/client'
import { createLog, errorRecord } from '@x/core'
import {
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  findMethodRow,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { LogRecord } from '@x/server'
import { type ObservedQuestion, readQuestionText } from './answers.ts'

/** One request of a call that may ask for input, and its response. */
export interface ObservedRound {
  readonly method: string
  /** Name or URI of the tool, prompt or resource. */
  readonly target: string
  /** Which instance answered, 0 for the first. */
  readonly instance: number
  /** `resultType` of the result, or `error`. */
  readonly status: string
  /** Texts of the questions by their keys. Empty if the server asked none. */
  readonly questions: Readonly<Record<string, string>>
  /** What the client receives as an error. Absent for a result. */
  readonly error?: { readonly code: number; readonly message: string }
}

/** How far a call has come (basic/patterns/progress). */
export type ObservedProgress = Progress & { readonly target: string }

/** A log message of a call (server/utilities/logging). */
export interface ObservedLog {
  readonly target: string
  readonly level: string
  readonly logger?: string
  readonly data: JsonValue
}

/** A change that a subscription of the client received (basic/patterns/subscriptions). */
export interface ObservedChange {
  /** Method of the notification without its prefix, such as `tools/list_changed` or `resources/updated`. */
  readonly change: string
  readonly uri?: string
}

/** One state of a task. Equal consecutive ones are recorded once. */
export interface ObservedTask {
  readonly taskId: string
  readonly status: string
  readonly statusMessage?: string
}

/** What a server logged as an error, often the reason for a response `Internal error`. */
export interface ObservedError {
  readonly method: string
  readonly name?: string
  readonly error: unknown
}

/** What has happened in a test so far, at its client and at the server's instances, as plain data and in order. */
export interface Observations {
  readonly rounds: readonly ObservedRound[]
  readonly questions: readonly ObservedQuestion[]
  readonly progress: readonly ObservedProgress[]
  readonly logs: readonly ObservedLog[]
  readonly changes: readonly ObservedChange[]
  readonly tasks: readonly ObservedTask[]
  /** Of instances that were made with the kit. */
  readonly warnings: readonly LogRecord[]
  /**
   * Of instances that were made with the kit. If a test never reads this list, the client writes it to the standard
   * error when it closes.
   */
  readonly errors: readonly ObservedError[]
}

/** {@link Observations} with lists that can be changed. */
export type MutableObservations = { readonly [Member in keyof Observations]: Observations[Member][number][] }

/** Records what one client observes. */
export interface Observer {
  readonly observations: MutableObservations
  recordResponse(request: RpcRequest, response: RpcResponse, instance: number): void
  /** Logged by an instance. */
  recordError(error: ObservedError): void
  /** Writes the errors to the standard error, unless the test has read their list. */
  reportUnreadErrors(): void
  /** The test has to answer it. */
  recordQuestion(question: ObservedQuestion): void
  recordNotification(request: RpcRequest, notification: RpcNotification): void
  /** Resolves when `count` changes were observed. */
  waitForChanges(count: number): Promise<readonly ObservedChange[]>
}

const notificationPrefix = 'notifications/'

function createErrorList() {
  const errors: ObservedError[] = []
  let isRead = false
  return {
    add: (error: ObservedError): void => void errors.push(error),
    read: (): ObservedError[] => {
      isRead = true
      return errors
    },
    reportUnread: (): void => {
      const log = createLog(undefined, '@x/testing')
      if (!isRead) for (const { error, ...context } of errors) log(errorRecord(error, context))
      isRead = true
    },
  }
}

export function createTestObserver(): Observer {
  const errorList = createErrorList()
  const observations: MutableObservations = {
    rounds: [],
    questions: [],
    progress: [],
    logs: [],
    changes: [],
    tasks: [],
    warnings: [],
    get errors() {
      return errorList.read()
    },
  }
  const waiters = new Set<{ readonly count: number; readonly resolve: (changes: readonly ObservedChange[]) => void }>()

  function recordChange(change: ObservedChange): void {
    observations.changes.push(change)
    for (const waiter of waiters) {
      if (observations.changes.length < waiter.count) continue
      waiters.delete(waiter)
      waiter.resolve([...observations.changes])
    }
  }

  function recordTask(task: ObservedTask | undefined): void {
    if (task === undefined) return
    const previousTask = observations.tasks.findLast(({ taskId }) => taskId === task.taskId)
    if (previousTask?.status !== task.status || previousTask.statusMessage !== task.statusMessage)
      observations.tasks.push(task)
  }

  return {
    observations,
    recordResponse: (request, response, instance) => {
      if (findMethodRow(request.method)?.canRequireInput === true)
        observations.rounds.push(toObservedRound(request, response, instance))
      if ('result' in response) recordTask(toObservedTask(response.result))
    },
    recordError: errorList.add,
    reportUnreadErrors: errorList.reportUnread,
    recordQuestion: (question) => void observations.questions.push(question),
    recordNotification: (request, { method, params = {} }) => {
      recordTask(toObservedTask(params))
      const target = findTarget(request)
      if (method === 'notifications/progress') observations.progress.push({ target, ...toObservedProgress(params) })
      else if (method === 'notifications/message') observations.logs.push({ target, ...toObservedLog(params) })
      else if (method.endsWith('/list_changed')) recordChange({ change: method.slice(notificationPrefix.length) })
      else if (method === 'notifications/resources/updated') {
        recordChange({
          change: method.slice(notificationPrefix.length),
          ...(typeof params.uri === 'string' && { uri: params.uri }),
        })
      }
    },
    waitForChanges: (count) =>
      observations.changes.length >= count
        ? Promise.resolve([...observations.changes])
        : new Promise((resolve) => void waiters.add({ count, resolve })),
  }
}

/** Name or URI of the tool, prompt or resource, or else the method. */
export function findTarget({ method, params = {} }: RpcRequest): string {
  const target = params[findMethodRow(method)?.targetParam ?? '']
  return typeof target === 'string' ? target : method
}

function toObservedRound(request: RpcRequest, response: RpcResponse, instance: number): ObservedRound {
  const commonFields = { method: request.method, target: findTarget(request), instance }
  if ('error' in response) {
    const { code, message } = response.error
    return { ...commonFields, status: 'error', questions: {}, error: { code, message } }
  }
  const { resultType = 'complete', inputRequests } = response.result
  const requests = isJsonObject(inputRequests) ? Object.entries(inputRequests) : []
  // Not checked, because the server under test made these requests and their messages are only shown.
  const questions = requests.map(([key, request]) => [key, readQuestionText(request as unknown as InputRequest)])
  return { ...commonFields, status: String(resultType), questions: Object.fromEntries(questions) }
}

function toObservedProgress({ progress, total, message }: JsonObject): Omit<ObservedProgress, 'target'> {
  return {
    progress: Number(progress),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}

function toObservedLog({ level, logger, data = null }: JsonObject): Omit<ObservedLog, 'target'> {
  return { level: String(level), ...(typeof logger === 'string' && { logger }), data }
}

/** For any extension with tasks. */
function toObservedTask({ taskId, status, statusMessage }: JsonObject): ObservedTask | undefined {
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined
  return { taskId, status, ...(typeof statusMessage === 'string' && { statusMessage }) }
}
