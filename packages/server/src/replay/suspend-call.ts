import { errorCodes, type JsonObject, McpError, metaKeys, type InputRequest } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import { HandlerError, explicitKey, rejectKey, wireKey } from './handler-error.ts'
import type { InputRequired } from '../definitions/context.ts'
import { asksFor, inputRequiredResult } from './input-required-result.ts'
import { jsonCopy } from './json-copy.ts'
import { missingCapabilities } from './needs.ts'
import { noteEntry } from './boundary.ts'
import { effectsOf, journalOf, type Run, type Asked } from './run.ts'
import { fingerprintOf } from './call-identity.ts'

/** The result that asks the client for everything that the run wants, with the journal as it stands. */
export function suspendCall(run: Run): Awaitable<JsonObject> {
  return after(rememberAnswers(run), () =>
    after(recordQuestions(run), (requests) => {
      endExplicitRound(run)
      return inputRequiredResult(run, requests)
    }),
  )
}

/** The result of a handler that asked in the protocol's own terms. */
export function suspendExplicitly(run: Run, { requests, state }: InputRequired): Awaitable<JsonObject> {
  const entries = Object.entries(requests)
  if (entries.length === 0 && state === undefined) {
    throw new HandlerError('question', 'inputRequired was given neither requests nor state: give at least one of them')
  }
  for (const [key] of entries) rejectKey(key, 'inputRequired')
  const copied = state === undefined ? { value: undefined } : jsonCopy(state)
  if ('reason' in copied)
    throw new HandlerError('json', `The state given to inputRequired must be JSON, but ${copied.reason}`)
  requireAnswerable(run, requests)
  // Nothing is to be sealed: the answers are read without a state, as they may come before they were asked for.
  const { journal, settings } = run.request
  if (state === undefined && settings.state === undefined && journal === undefined) {
    return asksFor(run, undefined, entries)
  }
  const kinds = new Map(entries.map(([key, { method }]) => [key, method]))
  return after(rememberAnswers(run), () => {
    journalOf(run).explicit = { kinds, state: copied.value }
    noteEntry(run, 'explicit')
    if (run.request.journal === undefined) return inputRequiredResult(run, entries)
    const round = journalOf(run).round + 1
    return inputRequiredResult(
      run,
      entries.map(([key, request]) => [explicitKey(key, round), request]),
    )
  })
}

/**
 * Records a digest of the answers to an explicit round: they are not kept, but determine the effects of the call from
 * here on.
 */
function rememberAnswers(run: Run): Awaitable<void> {
  if (run.responses === undefined || run.responses.size === 0) return undefined
  return after(effectsOf(run), (effects) => {
    journalOf(run).past = effects
    noteEntry(run, 'past')
  })
}

function requireAnswerable({ request }: Run, requests: InputRequired['requests']): void {
  const missing = missingCapabilities(Object.values(requests), request.meta[metaKeys.clientCapabilities])
  if (missing === undefined) return
  const message = `The client must declare these capabilities for this request: ${Object.keys(missing).join(', ')}`
  throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities: missing } })
}

function endExplicitRound(run: Run): void {
  const journal = journalOf(run)
  if (journal.explicit === undefined) return
  journal.explicit = undefined
  noteEntry(run, 'explicit')
}

/** Notes that everything which a run asks is open, and gives it as the client sees it. */
function recordQuestions(run: Run): Awaitable<readonly RequestEntry[]> {
  let recorded: Awaitable<readonly RequestEntry[]> = []
  for (const [key, asked] of run.asked ?? []) {
    recorded = after(recorded, (before) => after(recordQuestion(run, key, asked), (entry) => [...before, entry]))
  }
  return recorded
}

type RequestEntry = [string, InputRequest]

function recordQuestion(run: Run, key: string, asked: Asked): Awaitable<RequestEntry> {
  return after(fingerprintOf(asked.text), (fingerprint): RequestEntry => {
    const { questions } = journalOf(run)
    const known = questions.get(key)
    // An open question that reads another way now is another question, and must not be taken for the first.
    const isChanged = known !== undefined && known.response === undefined && known.fingerprint !== fingerprint
    const times = isChanged ? asked.times + 1 : asked.times
    const changes = isChanged ? asked.changes + 1 : asked.changes
    questions.set(key, { fingerprint, times, invalidAnswers: asked.invalidAnswers, changes })
    noteEntry(run, 'questions', key)
    return [wireKey(key, times), asked.request]
  })
}
