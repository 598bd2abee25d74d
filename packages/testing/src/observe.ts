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
  /** The name or URI of the tool, prompt or resource. */
  readonly target: string
  /** The number of the instance that answered, 0 for the first. */
  readonly instance: number
  /** The `resultType` of the result, or `error`. */
  readonly status: string
  /** The texts of the questions by their keys. Empty if the server asked no question. */
  readonly questions: Readonly<Record<string, string>>
  /** The error that the client receives. Absent for a result. */
  readonly error?: { readonly code: number; readonly message: string }
}

/** The progress of a call (basic/patterns/progress). */
export interface ObservedProgress {
  readonly target: string
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A log message of a call (server/utilities/logging). */
export interface ObservedLog {
  readonly target: string
  readonly level: string
  readonly logger?: string
  readonly data: JsonValue
}

/** A change that a subscription of the client received (basic/patterns/subscriptions). */
export interface ObservedChange {
  /** The method of the notification without its prefix, such as `tools/list_changed` or `resources/updated`. */
  readonly change: string
  readonly uri?: string
}

/** One state of a task. Equal consecutive states are recorded once. */
export interface ObservedTask {
  readonly taskId: string
  readonly status: string
  readonly statusMessage?: string
}

/** An error that a server logged. It is often the reason for a response `Internal error`. */
export interface ObservedError {
  readonly method: string
  readonly name?: string
  readonly error: unknown
}

/** The events of a test so far, at its client and at the server's instances, as plain data and in their order. */
export interface Observations {
  readonly rounds: readonly ObservedRound[]
  readonly questions: readonly ObservedQuestion[]
  readonly progress: readonly ObservedProgress[]
  readonly logs: readonly ObservedLog[]
  readonly changes: readonly ObservedChange[]
  readonly tasks: readonly ObservedTask[]
  /** Warnings of instances that were made with the kit. */
  readonly warnings: readonly LogRecord[]
  /**
   * Errors of instances that were made with the kit. If a test never reads this list, the client writes it to the
   * standard error when it closes.
   */
  readonly errors: readonly ObservedError[]
}

/** {@link Observations} with lists that can be changed. */
export type MutableObservations = { readonly [Member in keyof Observations]: Observations[Member][number][] }

/** Records the observations of one client. */
export interface Observer {
  readonly observations: MutableObservations
  /** Records a response and its request. */
  recordResponse(request: RpcRequest, response: RpcResponse, instance: number): void
  /** Records an error that an instance logged. */
  recordError(error: ObservedError): void
  /** Writes the errors to the standard error, unless the test has read their list. */
  reportUnreadErrors(): void
  /** Records a question that the test has to answer. */
  recordQuestion(question: ObservedQuestion): void
  /** Records a notification of a request. */
  recordNotification(request: RpcRequest, notification: RpcNotification): void
  /** Resolves when `count` changes were observed. */
  waitForChanges(count: number): Promise<readonly ObservedChange[]>
}

const notificationPrefix = 'notifications/'

/** Makes the list of errors, which knows whether the test has read it. */
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

/** Makes the observer of one client. */
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

/** Returns the tool, prompt or resource of a request, or its method. */
function findTarget({ method, params = {} }: RpcRequest): string {
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
  // The requests are not checked, because the server under test created them and their messages are only shown.
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

/** Returns the state of the task that a result or a notification describes, for any extension with tasks. */
function toObservedTask({ taskId, status, statusMessage }: JsonObject): ObservedTask | undefined {
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined
  return { taskId, status, ...(typeof statusMessage === 'string' && { statusMessage }) }
}
