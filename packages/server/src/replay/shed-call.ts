import type { InputResponse, JsonObject } from '@x/schema'
import { report } from '../request/scope.ts'
import { loadOf } from '../shedding/gauge.ts'
import type { ShedEvent } from '../shedding/shedding-options.ts'
import { journalOf, type Run } from './run.ts'
import { sealState } from './request-state.ts'
import { asksFor } from './input-required-result.ts'

/**
 * The result that hands a call over: `requestState` alone, with which the client comes back at once, to whichever instance
 * it is sent to. Undefined when the journal cannot be sealed, as when it is too large; the author was told.
 */
export async function shedCall(run: Run): Promise<JsonObject | undefined> {
  const journal = journalOf(run)
  journal.sheds++
  keepResponses(run)
  try {
    const requestState = await sealState(journal, run.scope, run.name)
    tell(run, journal.sheds)
    return asksFor(run, requestState)
  } catch {
    journal.sheds--
    return undefined
  }
}

/** Answers to an explicit round came with this request, and nobody sends them again. */
function keepResponses(run: Run): void {
  const journal = journalOf(run)
  if (journal.explicit === undefined || run.responses === undefined) return
  const responses = new Map(Array.from(run.responses, ([key, response]) => [key, asJson(response)]))
  journal.explicit = { ...journal.explicit, responses }
}

function asJson(response: InputResponse): JsonObject {
  // It came as JSON: interfaces are no JSON to the compiler only because they have no index.
  return response as unknown as JsonObject
}

function tell({ scope, name, shed: reason = 'load' }: Run, sheds: number): void {
  const { method, settings } = scope
  const { gauge } = settings
  gauge.sheds[reason]++
  const event: ShedEvent = { method, name, reason, sheds, load: loadOf(gauge) }
  try {
    gauge.rules.onShed(event)
  } catch (error) {
    report(error, { method, name }, settings)
  }
}
