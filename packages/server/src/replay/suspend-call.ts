import { errorCodes, type InputRequest, type JsonObject, McpError, metaKeys } from '@x/schema'
import { resultMeta } from '../catalog.ts'
import { HandlerError } from './handler-error.ts'
import type { InputRequired } from './input-required.ts'
import { jsonCopy } from './json-copy.ts'
import { missingFor } from './needs.ts'
import { note } from './kept-journal.ts'
import { explicitKey, refuseKey } from './keys.ts'
import { recordQuestion } from './record-question.ts'
import { journalOf, type Run } from './run.ts'
import { sealState } from './request-state.ts'
import { warn } from './warnings.ts'

/** Most clients give up after ten rounds. */
const manyRounds = 8

/** The result that asks the client for everything that the run wants, with the journal as it stands. */
export async function suspendCall(run: Run): Promise<JsonObject> {
  const requests: [string, InputRequest][] = []
  for (const [key, asked] of run.asked ?? []) requests.push(await recordQuestion(run, key, asked))
  endExplicitRound(run)
  return inputRequiredResult(run, requests)
}

/** The result of a handler that asked in the protocol's own terms. */
export function suspendExplicitly(run: Run, { requests, state }: InputRequired): Promise<JsonObject> {
  const entries = Object.entries(requests)
  if (entries.length === 0 && state === undefined) {
    throw new HandlerError('question', 'inputRequired was given neither requests nor state: give at least one of them')
  }
  for (const [key] of entries) refuseKey(key, 'inputRequired')
  const kept = state === undefined ? { value: undefined } : jsonCopy(state)
  if ('reason' in kept)
    throw new HandlerError('json', `The state given to inputRequired must be JSON, but ${kept.reason}`)
  const { clientCapabilities } = metaKeys
  const missing = missingFor(Object.values(requests), run.scope.meta[clientCapabilities])
  if (missing !== undefined) {
    const message = `The client must declare these capabilities for this request: ${Object.keys(missing).join(', ')}`
    throw new McpError(errorCodes.missingRequiredClientCapability, message, { data: { requiredCapabilities: missing } })
  }
  const kinds = new Map(entries.map(([key, { method }]) => [key, method]))
  journalOf(run).explicit = { kinds, state: kept.value }
  note(run, 'explicit')
  if (run.scope.call.journal === undefined) return inputRequiredResult(run, entries)
  const round = journalOf(run).round + 1
  return inputRequiredResult(
    run,
    entries.map(([key, request]) => [explicitKey(key, round), request]),
  )
}

function endExplicitRound(run: Run): void {
  const journal = journalOf(run)
  if (journal.explicit === undefined) return
  journal.explicit = undefined
  note(run, 'explicit')
}

async function inputRequiredResult(run: Run, requests: readonly [string, InputRequest][]): Promise<JsonObject> {
  const journal = journalOf(run)
  journal.round++
  if (journal.round === manyRounds) {
    const advice = 'most clients stop at ten: ask several things at once'
    warn(run, { code: 'rounds', problem: `has asked ${manyRounds} times in one call, and ${advice}` })
  }
  note(run, 'round')
  const isKept = run.scope.call.journal !== undefined
  return asksFor(run, isKept ? undefined : await sealState(journal, run.scope, run.name), requests)
}

/** A result with which the client comes back; at once, when nothing is asked of it. */
export function asksFor(
  { scope }: Run,
  requestState: string | undefined,
  requests: readonly [string, InputRequest][] = [],
): JsonObject {
  const meta = resultMeta(undefined, scope.catalog)
  const inputRequests = Object.fromEntries(requests)
  return {
    resultType: 'input_required',
    ...(requests.length > 0 && { inputRequests }),
    ...(requestState !== undefined && { requestState }),
    ...(meta && { _meta: meta }),
  }
}
