import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MultiRoundMethod, type InputAnswers, isClientError, type PendingCall, type Round } from '@x/client'
import { codeOf, isJsonObject, type JsonObject, type JsonValue, messageOf } from '@x/core'
import type { Principal } from '@x/exchange'
import { createAnswerRegistry, type AnswerRegistry, type Answers, splitKey } from './answers.ts'
import { findFirstDifference } from './stop-at-every-step.ts'
import type { SealedValue, ServerFactory } from './server-kit.ts'
import { openTestClient, type TestClient } from './test-client.ts'
import { testRuntime } from './test-runtime.ts'
import { formatValue, isTestingError, TestingError } from './testing-error.ts'

/** A call whose states are recorded: of a tool, a prompt or a resource, with the answers to its questions. */
export interface RecordedCall {
  readonly tool?: string | undefined
  readonly prompt?: string | undefined
  readonly resource?: string | undefined
  /** Arguments of the tool or the prompt. */
  readonly arguments?: JsonObject | undefined
  readonly answers: Answers
  readonly principal?: Principal | undefined
}

/** Options of {@link checkRecordedStates}. */
export interface RecordedStatesOptions {
  /** Folder with one file for each call. Commit it to version control. */
  readonly folder: string | URL
  /** Calls by the names of their files. */
  readonly calls: Readonly<Record<string, RecordedCall>>
  /**
   * `missing` records calls that have no file, and is the default. `all` records every call anew, as before a release.
   * `none` fails for a call without a file, as in CI.
   */
  readonly record?: 'missing' | 'all' | 'none' | undefined
}

/** A recorded state that the definition continued to its end. */
export interface StateCheck {
  /** After which round the state was recorded, 1 for the first. */
  readonly round: number
  /** Keys of questions that the recorded call did not ask. */
  readonly askedKeys: readonly string[]
  /** First difference between the result now and the recorded one. Undefined when they are the same. */
  readonly changeDescription: string | undefined
}

/** Recorded states of one call. */
export interface RecordedCheck {
  readonly call: string
  /** The states were recorded in this run, so nothing was checked. */
  readonly isRecorded: boolean
  readonly states: readonly StateCheck[]
}

type OpenedTestClient = ReturnType<typeof openTestClient>

interface Recording {
  readonly server: { readonly name: string; readonly version: string }
  /** To open the states, the clock is set to this time, so that they have not expired. */
  readonly recordedAt: string
  readonly states: readonly RecordedState[]
  readonly result: JsonValue
}

interface RecordedState {
  readonly pending: Omit<PendingCall, 'state'>
  readonly sealed: SealedValue
}

/**
 * Checks that a definition can continue calls that an earlier version of it began, as it must during a rolling
 * deployment. The earlier version's states are stored as readable JSON files, and the test gives the answers.
 *
 * A result that differs from the recorded one is reported and fails nothing, because a new version may change its text.
 *
 * @throws `TestingError` `states_rejected` if a state does not open, or if its call fails, asks a question without an
 * answer, or repeats an answered question.
 *
 * @example
 * await checkRecordedStates((kit) => createServer({ ...definition, ...kit }), {
 *   folder: new URL('./states', import.meta.url),
 *   calls: { resolve: { tool: 'resolve_bug', arguments: { id: 1 }, answers: { resolution: { resolution: 'Fixed' } } } },
 * })
 */
export async function checkRecordedStates(
  factory: ServerFactory,
  options: RecordedStatesOptions,
): Promise<readonly RecordedCheck[]> {
  if (typeof options?.calls !== 'object' || options.folder === undefined)
    throw new TestingError('usage', 'checkRecordedStates takes a factory and an object with folder and calls')
  const { folder, calls, record = 'missing' } = options
  if (!recordModes.has(record))
    throw new TestingError('usage', `record must be 'missing', 'all' or 'none', and is ${formatValue(record)}`)
  const checks: RecordedCheck[] = []
  const problems: string[] = []
  for (const [name, call] of Object.entries(calls)) {
    const path = recordingPath(folder, name)
    const recording = await loadRecording(path, record)
    if (recording === undefined) await writeRecording(path, await recordStates(factory, call))
    else checkRecordedCall(recording, call, path)
    const outcomes = recording === undefined ? [] : await continueStates(factory, call, recording)
    problems.push(...describeProblems(name, outcomes))
    const states = outcomes.filter((outcome): outcome is StateCheck => !('problem' in outcome))
    checks.push({ call: name, isRecorded: recording === undefined, states })
  }
  if (problems.length === 0) return checks
  throw new TestingError('states_rejected', `Recorded states are not continued:\n${problems.join('\n')}`)
}

const recordModes: ReadonlySet<string> = new Set(['missing', 'all', 'none'])

/** States continue the call of the file, so a test of another call would check nothing of what it says. */
function checkRecordedCall({ states }: Recording, call: RecordedCall, path: string): void {
  const [state] = states
  const recorded = state && describeCall(state.pending)
  const difference = findFirstDifference(recorded, describeCall(pendingCallOf(call)), 'the call')
  if (difference === undefined) return
  const advice = "record it again with record: 'all', or name this call otherwise"
  throw new TestingError('usage', `${path} has the states of another call (${difference}): ${advice}`)
}

function describeCall({ method, params = {} }: Pick<PendingCall, 'method' | 'params'>): JsonObject {
  const { name, uri, arguments: args = {} } = JSON.parse(JSON.stringify(params))
  return { method, name, uri, arguments: args }
}

function pendingCallOf({
  tool,
  prompt,
  resource,
  arguments: args,
}: RecordedCall): Pick<PendingCall, 'method' | 'params'> {
  if (tool !== undefined) return { method: 'tools/call', params: { name: tool, arguments: args } }
  if (prompt !== undefined) return { method: 'prompts/get', params: { name: prompt, arguments: args } }
  return { method: 'resources/read', params: { uri: resource } }
}

function recordingPath(folder: string | URL, name: string): string {
  if (!/^[\w.-]+$/.test(name)) throw new TestingError('usage', `calls[${JSON.stringify(name)}]: expected a file name`)
  return join(typeof folder === 'string' ? folder : fileURLToPath(folder), `${name}.json`)
}

async function loadRecording(path: string, record: RecordedStatesOptions['record']): Promise<Recording | undefined> {
  if (record === 'all') return undefined
  const recording = await readRecording(path)
  if (recording !== undefined || record !== 'none') return recording
  throw new TestingError('usage', `${path} does not exist: record it with record: 'missing'`)
}

function describeProblems(name: string, outcomes: readonly ContinuationOutcome[]): readonly string[] {
  return outcomes.flatMap((outcome, index) =>
    'problem' in outcome ? [`${name}, state ${index + 1}: ${outcome.problem}`] : [],
  )
}

async function readRecording(path: string): Promise<Recording | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  const createRecordingError = (reason: string, cause?: unknown): TestingError =>
    new TestingError('usage', `${path} ${reason}: record it again with record: 'all'`, { cause })
  let recording: unknown
  try {
    recording = JSON.parse(text)
  } catch (cause) {
    throw createRecordingError('is not JSON', cause)
  }
  // The cast is safe enough: client and server check the members of a state when the call continues.
  if (isJsonObject(recording) && Array.isArray(recording['states']) && typeof recording['recordedAt'] === 'string') {
    return recording as unknown as Recording
  }
  throw createRecordingError('is not a recording')
}

async function writeRecording(path: string, recording: Recording): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `${JSON.stringify(recording, undefined, 2)}\n`)
}

async function recordStates(factory: ServerFactory, call: RecordedCall): Promise<Recording> {
  const now = Date.now()
  const { client, trackedKit } = openClient(factory, call, now)
  try {
    const states: RecordedState[] = []
    const answerRegistry = createAnswerRegistry(call.answers)
    let round: Round<MultiRoundMethod> = await beginRecordedCall(client, call)
    while (round.status === 'input_required') {
      const { state, ...pendingCall } = round.pendingCall
      const sealedValue = state === undefined ? undefined : trackedKit.sealedValues.get(state)
      if (sealedValue === undefined)
        throw new TestingError('usage', 'The call asks without a state, so none can be recorded')
      states.push({ pending: pendingCall, sealed: sealedValue })
      round = await round.resume(await answerQuestions(pendingCall, answerRegistry), manyRounds)
    }
    if (states.length === 0) throw new TestingError('usage', 'The call asks nothing, so it leaves no state')
    const { name, version } = client.instances[0]?.info ?? { name: '', version: '' }
    const recordedAt = new Date(now).toISOString()
    return { server: { name, version }, recordedAt, states, result: toComparableContent(round.result) }
  } finally {
    await client.close()
  }
}

type ContinuationOutcome = StateCheck | { readonly problem: string }

async function continueStates(
  factory: ServerFactory,
  call: RecordedCall,
  recording: Recording,
): Promise<ContinuationOutcome[]> {
  const outcomes: ContinuationOutcome[] = []
  for (const state of recording.states) outcomes.push(await continueState(factory, call, { recording, state }))
  return outcomes
}

async function continueState(
  factory: ServerFactory,
  call: RecordedCall,
  {
    recording,
    state: { pending: pendingCall, sealed: sealedValue },
  }: { readonly recording: Recording; readonly state: RecordedState },
): Promise<ContinuationOutcome> {
  const { client, trackedKit } = openClient(factory, call, Date.parse(recording.recordedAt))
  const recordedKeys = new Set(recording.states.flatMap((state) => Object.keys(state.pending.requests)))
  const askedKeys: string[] = []
  try {
    const answerRegistry = createAnswerRegistry(call.answers)
    const state = await trackedKit.kit.state.seal(sealedValue.value, sealedValue.claims)
    let round: Round<MultiRoundMethod> = await client.manualRounds.resume(
      { ...pendingCall, state },
      await answerQuestions(pendingCall, answerRegistry),
      manyRounds,
    )
    while (round.status === 'input_required') {
      const newKeys = Object.keys(round.requests).filter((key) => !recordedKeys.has(key))
      const repeatedKey = newKeys.map(splitKey).find(({ occurrence: times }) => times > 1)
      if (repeatedKey !== undefined) return { problem: `it asks "${repeatedKey.key}" again, which was answered` }
      askedKeys.push(...newKeys)
      round = await round.resume(await answerQuestions(round.pendingCall, answerRegistry), manyRounds)
    }
    return {
      round: pendingCall.round,
      askedKeys,
      changeDescription: findFirstDifference(recording.result, toComparableContent(round.result), 'result'),
    }
  } catch (error) {
    if (isTestingError(error) && error.code === 'usage') throw error
    return { problem: describeReplayError(error, client) }
  } finally {
    await client.close()
  }
}

/** More than clients allow by default, so that long dialogues can be recorded as well. */
const manyRounds = { rounds: { maxRounds: 100 } }

function openClient(factory: ServerFactory, { principal }: RecordedCall, now: number): OpenedTestClient {
  const openedClient = openTestClient(factory, { principal, runtime: testRuntime({ now }) })
  if (openedClient.trackedKit.isUsed('state')) return openedClient
  const instruction = 'write (kit) => createServer({ ...definition, ...kit })'
  throw new TestingError('kit_unused', `The factory does not use its kit, which opens recorded states: ${instruction}`)
}

function beginRecordedCall(
  client: TestClient,
  { tool, prompt, resource, arguments: args }: RecordedCall,
): Promise<Round<MultiRoundMethod>> {
  if (tool !== undefined) return client.manualRounds.callTool(tool, args, manyRounds)
  // The arguments of prompts are strings, which the server checks.
  if (prompt !== undefined)
    return client.manualRounds.getPrompt(prompt, args as Record<string, string> | undefined, manyRounds)
  if (resource !== undefined) return client.manualRounds.readResource(resource, manyRounds)
  throw new TestingError('usage', 'A recorded call names a tool, a prompt or a resource')
}

async function answerQuestions(
  { requests, round }: Pick<PendingCall, 'requests' | 'round'>,
  answerRegistry: AnswerRegistry,
): Promise<InputAnswers> {
  const answers = Object.entries(requests).map(
    async ([key, request]) => [key, await answerRegistry.answer(key, request, round)] as const,
  )
  return Object.fromEntries(await Promise.all(answers))
}

/** Without `_meta`, which contains the version of the server. */
function toComparableContent(result: object): JsonValue {
  const { _meta, ...content } = JSON.parse(JSON.stringify(result))
  return content
}

function describeReplayError(error: unknown, client: TestClient): string {
  const reason = messageOf(error)
  if (!isClientError(error)) return reason
  // Why the state was rejected is in the server's log, and not in the client's error.
  const reportedErrors = client.observations.errors.map((observedError) => String(observedError.error))
  return [reason, ...reportedErrors].join('; ')
}
