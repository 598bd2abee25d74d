import { checkArgument } from '@x/core'
import { isClientError } from '@x/client'
import type { Server } from '@x/exchange'
import { isJsonObject, type JsonValue } from '@x/schema'
import { sheddingSettings } from '@x/server/internals'
import type { ServerFactory } from './server-kit.ts'
import { openTestClient, type TestClient, type TestClientOptions } from './test-client.ts'
import { testRuntime } from './test-runtime.ts'
import { formatValue, isTestingError, TestingError } from './testing-error.ts'

/** Options of {@link stopAtEveryStep}. Those of {@link testClient} apply to each client. */
export interface StopAtEveryStepOptions<S extends Server = Server>
  extends Omit<TestClientOptions<readonly []>, 'shedding' | 'runtime' | 'restartBetweenRounds'> {
  /**
   * Makes the calls, and returns their outcome as plain data: the results, and the state of the systems that the
   * handlers change. A rejection is an outcome too.
   */
  readonly call: (client: TestClient<S>) => unknown
  /** Resets the systems that the handlers change. Called before each execution of `call`. */
  readonly reset?: (() => void | Promise<void>) | undefined
}

/** After this step or saved checkpoint, a handler was stopped. */
export interface StoppedStep {
  /** Number of the step, from 1, in the order of recording over all requests of one execution of `call`. */
  readonly step: number
  /** Name or URI of the tool, prompt or resource. */
  readonly target: string
  /** Keys of the steps and checkpoints that were recorded up to this one. */
  readonly recordedKeys: readonly string[]
}

/** What a check that passed has found. */
export interface StopReport {
  /** Outcome of the calls, the same in every execution. */
  readonly outcome: JsonValue
  readonly stoppedSteps: readonly StoppedStep[]
}

interface Execution {
  readonly outcome: JsonValue
  readonly stepCount: number
  readonly stoppedStep: StoppedStep | undefined
}

/**
 * Executes `call` once without an interruption, and then once for each step that the handlers record: the handler is
 * stopped after that step, and another instance continues the call from its state. Every execution must have the same
 * outcome.
 *
 * Each execution has a runtime of its own that begins at the same time, so that `ctx.now()` and `ctx.uuid` return the
 * same values.
 *
 * @throws {@link TestingError} `outcome_differs` with the step and the first difference, or `no_steps` if no step was
 * recorded.
 *
 * @example
 * await stopAtEveryStep((kit) => createServer({ ...definition, ...kit }), {
 *   reset: () => tracker.reset(),
 *   answers: { resolution: { resolution: 'Fixed' } },
 *   call: async (client) => [await client.callTool('resolve_bug', { id: 1 }), tracker.bugs],
 * })
 */
export async function stopAtEveryStep<S extends Server>(
  factory: ServerFactory<S>,
  options: StopAtEveryStepOptions<S>,
): Promise<StopReport> {
  checkArgument(options, { where: 'stopAtEveryStep', takes: 'a factory and an object with call', needs: ['call'] })
  const undisturbedExecution = await executeCall(factory, options, undefined)
  if (undisturbedExecution.stepCount === 0) {
    const reason = 'the calls record neither a step nor a checkpoint; put their work into ctx.step'
    throw new TestingError('no_steps', `There is nothing to stop at: ${reason}`)
  }
  const stoppedSteps: StoppedStep[] = []
  for (let step = 1; step <= undisturbedExecution.stepCount; step++) {
    // One after the other, because they share the systems that `reset` resets.
    const execution = await executeCall(factory, options, step)
    const difference = findFirstDifference(undisturbedExecution.outcome, execution.outcome)
    if (difference !== undefined) throw differenceError(step, execution, difference)
    if (execution.stoppedStep === undefined)
      throw differenceError(step, execution, 'the handlers recorded fewer steps than without an interruption')
    stoppedSteps.push(execution.stoppedStep)
  }
  return { outcome: undisturbedExecution.outcome, stoppedSteps }
}

function differenceError(step: number, { stoppedStep }: Execution, difference: string): TestingError {
  const targetText =
    stoppedStep === undefined ? '' : ` of "${stoppedStep.target}" (recorded: ${stoppedStep.recordedKeys.join(', ')})`
  const reason = `stopped after step ${step}${targetText}, the calls end differently: ${difference}`
  return new TestingError('outcome_differs', reason)
}

/** Undefined when the values are equal as JSON. Members that are undefined count as absent. */
export function findFirstDifference(one: unknown, other: unknown, path = 'outcome'): string | undefined {
  if (isContainer(one) && isContainer(other) && Array.isArray(one) === Array.isArray(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)])
    for (const key of keys) {
      const memberPath = Array.isArray(one) ? `${path}[${key}]` : `${path}.${key}`
      const difference = findFirstDifference(Reflect.get(one, key), Reflect.get(other, key), memberPath)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  return Object.is(one, other) ? undefined : `${path} is ${formatValue(other)} instead of ${formatValue(one)}`
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The handler is stopped after the step with the given number, or never. */
async function executeCall<S extends Server>(
  factory: ServerFactory<S>,
  { call, reset, ...options }: StopAtEveryStepOptions<S>,
  stopAfterStep: number | undefined,
): Promise<Execution> {
  await reset?.()
  let stepCount = 0
  let target: string | undefined
  let earlierSealCount = 0
  const shedding = sheddingSettings({
    calls: 'all',
    minWorkMs: 0,
    budget: Number.POSITIVE_INFINITY,
    // Every instance calls this function at the end of each step and at each saved checkpoint.
    policy: (_, { name }) => {
      stepCount += 1
      if (stepCount !== stopAfterStep) return false
      target = name
      earlierSealCount = trackedKit.sealedValues.size
      return true
    },
  })
  const { client, trackedKit } = openTestClient<S>(factory, {
    ...options,
    runtime: testRuntime(),
    shedding,
    restartBetweenRounds: stopAfterStep !== undefined,
  })
  try {
    if (!trackedKit.isUsed('shedding')) throw unusedKitError()
    const outcome = await runToOutcome(async () => call(client))
    if (target === undefined || stopAfterStep === undefined) return { outcome, stepCount, stoppedStep: undefined }
    // The first value that was sealed after the stop is the journal of the stopped handler.
    const journal = [...trackedKit.sealedValues.values()][earlierSealCount]?.value
    return {
      outcome,
      stepCount,
      stoppedStep: { step: stopAfterStep, target, recordedKeys: recordedKeysOf(journal) },
    }
  } finally {
    await client.close()
  }
}

async function runToOutcome(call: () => Promise<unknown>): Promise<JsonValue> {
  try {
    return toComparableOutcome({ result: await call() })
  } catch (error) {
    // An error in the test itself would occur in every execution.
    if (isTestingError(error)) throw error
    if (!(error instanceof Error)) return toComparableOutcome({ error })
    const { name, message } = error
    // Without the message, which has the server's name only if the client knows that.
    return toComparableOutcome({
      error: isClientError(error) ? { name, code: error.code, ...error.rpc } : { name, message },
    })
  }
}

function toComparableOutcome(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value))
}

function recordedKeysOf(journal: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(journal)) return []
  return [journal['steps'], journal['checkpoints']].flatMap((part) => (isJsonObject(part) ? Object.keys(part) : []))
}

function unusedKitError(): TestingError {
  const instruction = 'write (kit) => createServer({ ...definition, ...kit })'
  return new TestingError(
    'kit_unused',
    `The factory does not use its kit, with which calls are stopped: ${instruction}`,
  )
}
