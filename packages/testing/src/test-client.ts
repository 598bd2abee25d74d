import { type Client, type ClientApis, type ClientExtension, type ClientOptions, createClient } from '@x/client'
import type { Clock, Runtime } from '@x/core'
import {
  type Call,
  type CallContext,
  createCall,
  type Exchange,
  type Principal,
  type Server,
  type TypesOf,
} from '@x/exchange'
import {
  errorCodes,
  isJsonObject,
  type LoggingLevel,
  metaKeys,
  projectMetaKeys,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import type { ServerDefinition } from '@x/server'
import { allCapabilities, createAnswerRegistry, type Answers, createInputHandlers } from './answers.ts'
import { createTestObserver, findTarget, type Observations, type ObservedChange, type Observer } from './observe.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { createKit, type TrackedKit, type ServerFactory } from './server-kit.ts'
import { TestingError } from './testing-error.ts'

/** Options of {@link testClient}, beside those of `createClient`. */
export interface TestClientOptions<Extensions extends readonly ClientExtension[] = readonly ClientExtension[]>
  extends Partial<ClientOptions<Extensions>> {
  /** Answers by the keys of questions. A question without one fails the call with {@link TestingError} `unanswered`. */
  readonly answers?: Answers | undefined
  /** Who calls. In production the transport authenticates the caller. */
  readonly principal?: Principal | undefined
  /** Context values. In production transports or middleware set them. */
  readonly context?: CallContext | undefined
  /** Least severe level of log messages that the server sends. Default: `debug`. */
  readonly logLevel?: LoggingLevel | undefined
  /**
   * Clock and random ids, such as `testRuntime()`, of the client and of instances that are made with the kit. Default:
   * the platform's.
   */
  readonly runtime?: Runtime | undefined
  /** Sends each round to a new instance. Default: false. Requires a factory. */
  readonly restartBetweenRounds?: boolean | undefined
  /** How many instances answer the requests in turn, as behind a load balancer. Default: 1. Requires a factory. */
  readonly instanceCount?: number | undefined
  /**
   * Runs each handler again from its first line at each of its awaits, in instances that are made with the kit. A call
   * fails with {@link TestingError} `not_repeatable` if two runs differ. Default: true.
   */
  readonly strictReplay?: boolean | undefined
  /** Member `shedding` of the kit. */
  readonly shedding?: ServerDefinition['shedding']
}

/** What a test's client has beside the members of a client. */
export interface TestClientMembers<S extends Server = Server> {
  /** What was observed so far. */
  readonly observations: Observations
  /** All instances so far. The last one answers all requests or, with `instanceCount`, all of them answer in turn. */
  readonly instances: readonly S[]
  /**
   * Makes another instance, which answers all requests from now on. Throws {@link TestingError} for a server without a
   * factory.
   */
  restart(): S
  /**
   * Resolves with all changes when the client's subscriptions have received `count` in total, including those before
   * this call. It has no time limit.
   */
  waitForChanges(count: number): Promise<readonly ObservedChange[]>
  /** Keys of `answers` that no question has used so far. */
  listUnusedAnswers(): readonly string[]
}

/** A client of a server in this process, with members for tests. */
export type TestClient<S extends Server = Server, Extensions extends readonly ClientExtension[] = readonly []> = Client<
  TypesOf<S>
> &
  ClientApis<Extensions> &
  TestClientMembers<S>

/**
 * Makes a client for a server in this process, without a port. Messages are copied as JSON, as by a transport.
 *
 * With a factory, `restart` and `restartBetweenRounds` make further instances, which can open each other's states.
 * Closing the client closes the factory's instances; a server that you passed yourself stays open. Errors of handlers
 * that the test has not read in `observations.errors` are then written to the standard error.
 *
 * @example
 * await using client = testClient((kit) => createServer({ ...definition, ...kit }), { answers: { name: { name: 'Ada' } } })
 * const { content } = await client.callTool('greet')
 */
export function testClient<S extends Server, const Extensions extends readonly ClientExtension[] = readonly []>(
  target: S | ServerFactory<S>,
  options: TestClientOptions<Extensions> = {},
): TestClient<S, Extensions> {
  return openTestClient(target, options).client
}

/** Also gives the kit that the server's instances use, to other functions of this package. */
export function openTestClient<S extends Server, const Extensions extends readonly ClientExtension[] = readonly []>(
  target: S | ServerFactory<S>,
  options: TestClientOptions<Extensions>,
): { readonly client: TestClient<S, Extensions>; readonly trackedKit: TrackedKit } {
  const { answers = {}, runtime, capabilities = allCapabilities, instanceCount } = options
  const clientOptions = clientOptionsOf(options)
  const observer = createTestObserver()
  const trackedKit = createObservedKit(observer, options)
  const fleet = createFleet(target, trackedKit, instanceCount)
  if (options.restartBetweenRounds === true) fleet.requireFactory('restartBetweenRounds')
  const answerRegistry = createAnswerRegistry(answers, observer.recordQuestion)
  const client = createClient<S, Extensions>(
    { exchange: createObservedExchange(fleet, observer, trackedKit, options) },
    {
      name: 'test-client',
      version: '1.0.0',
      ...createInputHandlers(answerRegistry, capabilities),
      ...(runtime !== undefined && { runtime: createClientClock(runtime) }),
      ...clientOptions,
      capabilities,
    },
  )
  const close = client.close.bind(client)
  const closeAll = async (): Promise<void> => {
    await close()
    await fleet.close()
    observer.reportUnreadErrors()
  }
  // A `TestingError` that caused a transport error is thrown in its place.
  const { callTool, getPrompt, readResource } = client
  const members = {
    callTool: (...args: Parameters<typeof callTool>) => callTool(...args).catch(rethrowTestingError),
    getPrompt: (...args: Parameters<typeof getPrompt>) => getPrompt(...args).catch(rethrowTestingError),
    readResource: (...args: Parameters<typeof readResource>) => readResource(...args).catch(rethrowTestingError),
    observations: observer.observations,
    instances: fleet.instances,
    restart: fleet.restart,
    waitForChanges: observer.waitForChanges,
    listUnusedAnswers: answerRegistry.listUnusedAnswers,
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
  return { client: Object.assign(client, members), trackedKit }
}

function rethrowTestingError(error: unknown): never {
  throw error instanceof Error && error.cause instanceof TestingError ? error.cause : error
}

function createObservedKit(
  { observations, recordError }: Observer,
  { runtime, strictReplay = true, shedding }: TestClientOptions,
): TrackedKit {
  return createKit({
    runtime,
    strictReplay,
    shedding,
    log: (record) => {
      const { level, method = '', name, err } = record
      if (level === 'error') recordError({ method, ...(name !== undefined && { name }), error: err })
      else observations.warnings.push(record)
    },
  })
}

function createObservedExchange(
  fleet: Fleet<Server>,
  observer: Observer,
  trackedKit: TrackedKit,
  options: TestClientOptions,
): Exchange {
  const { logLevel = 'debug', restartBetweenRounds = false } = options
  const withFixedKey = createFixedKeyMapper()
  return async (sentRequest, call) => {
    const request = withFixedKey(copyThroughJson(withLogLevel(sentRequest, logLevel)))
    const isResumed = typeof request.params?.['requestState'] === 'string'
    if (restartBetweenRounds && isResumed) fleet.restart()
    const { instanceIndex, server } = fleet.pickInstance()
    const earlierWarningCount = observer.observations.warnings.length
    const notify: Call['notify'] = (notification) => {
      const copy = copyThroughJson(notification)
      observer.recordNotification(request, copy)
      call.notify(copy)
    }
    const { principal, context = call.context } = options
    const response = copyThroughJson(
      await server.exchange(request, createCall({ signal: call.signal, principal, context, notify })),
    )
    observer.recordResponse(request, response, instanceIndex)
    requireRepeatableHandler(observer, request, earlierWarningCount)
    if (instanceIndex > 0 && isStateRejected(response) && !trackedKit.isUsed('state')) throw missingKeyError()
    return withoutRetryPause(response)
  }
}

/** A test does not have to wait for another instance. */
function withoutRetryPause(response: RpcResponse): RpcResponse {
  if ('error' in response || response.result['resultType'] !== 'input_required') return response
  const meta = {
    [projectMetaKeys.retryAfterMs]: 0,
    ...(isJsonObject(response.result['_meta']) && response.result['_meta']),
  }
  return { ...response, result: { ...response.result, _meta: meta } }
}

function copyThroughJson<T>(message: T): T {
  return JSON.parse(JSON.stringify(message))
}

/**
 * Numbers take the place of a client's random idempotency keys, from which the server derives `ctx.uuid` and the keys
 * of steps. So two clients that make the same calls in the same order get the same values.
 */
function createFixedKeyMapper(): (request: RpcRequest) => RpcRequest {
  const keys = new Map<string, string>()
  return (request) => {
    const meta = request.params?.['_meta']
    const key = isJsonObject(meta) ? meta[projectMetaKeys.idempotencyKey] : undefined
    if (!isJsonObject(meta) || typeof key !== 'string') return request
    const fixedKey = keys.get(key) ?? String(keys.size + 1).padStart(22, '0')
    keys.set(key, fixedKey)
    return { ...request, params: { ...request.params, _meta: { ...meta, [projectMetaKeys.idempotencyKey]: fixedKey } } }
  }
}

function withLogLevel(request: RpcRequest, logLevel: LoggingLevel): RpcRequest {
  const { params = {} } = request
  const meta = isJsonObject(params._meta) ? params._meta : {}
  return { ...request, params: { ...params, _meta: { [metaKeys.logLevel]: logLevel, ...meta } } }
}

/** Warnings of other calls, which run at the same time, are not about this request. */
function requireRepeatableHandler({ observations }: Observer, request: RpcRequest, earlierWarningCount: number): void {
  const target = findTarget(request)
  const warning = observations.warnings
    .slice(earlierWarningCount)
    .find(({ code, method, name }) => code === 'not_repeatable' && method === request.method && name === target)
  if (warning !== undefined) throw new TestingError('not_repeatable', warning.message)
}

function isStateRejected(response: RpcResponse): boolean {
  if (!('error' in response) || response.error.code !== errorCodes.invalidParams) return false
  const { data } = response.error
  return isJsonObject(data) && data['reason'] === 'requestState'
}

function missingKeyError(): TestingError {
  const instruction =
    'write (kit) => createServer({ ...definition, ...kit }), or give the definition a state of its own'
  return new TestingError('kit_unused', `The next instance cannot open the state of the one before: ${instruction}`)
}

/** `createClient` rejects unknown options, such as those of the test. */
function clientOptionsOf<Extensions extends readonly ClientExtension[]>(
  options: TestClientOptions<Extensions>,
): Partial<Omit<ClientOptions<Extensions>, 'runtime'>> {
  const {
    answers: _answers,
    principal: _principal,
    context: _context,
    logLevel: _logLevel,
    runtime: _runtime,
    restartBetweenRounds: _restartBetweenRounds,
    instanceCount: _instanceCount,
    strictReplay: _strictReplay,
    shedding: _shedding,
    ...clientOptions
  } = options
  return clientOptions
}

/** Pauses of 0 ms end without `advance`. */
function createClientClock(runtime: Runtime): Clock {
  return {
    monotonicNow: () => runtime.monotonicNow(),
    setTimeout: (callback, ms) => {
      if (ms > 0) return runtime.setTimeout(callback, ms)
      queueMicrotask(callback)
      return undefined
    },
    clearTimeout: (timer) => runtime.clearTimeout(timer),
  }
}
