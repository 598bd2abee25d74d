import type { JsonObject } from '@x/schema'
import { createHandOffReport } from '../shedding/hand-off.ts'
import { countHandOff, readCurrentLoad } from '../shedding/load-monitor.ts'
import type { HandOffReason } from '../shedding/shedding-options.ts'
import type { Run } from './run.ts'
import { emitRunEnd } from './run-events.ts'
import { sealState } from './seal-state.ts'
import { formatInputRequired } from './input-required-result.ts'

/**
 * Returns the result that hands a call off. It contains only `requestState`, and the client sends the call again at
 * once, to any instance. Returns undefined if the journal cannot be sealed, for example because it is too large. That
 * failure is logged.
 */
export async function handOffCall(run: Run, reason: HandOffReason): Promise<JsonObject | undefined> {
  const { request, name, journal } = run
  // A stopping instance does not report its load.
  const report = reason === 'stopping' ? undefined : createHandOffReport(request.settings.loadMonitor)
  const handedOffJournal = journal.toHandedOff(report)
  let requestState: string
  try {
    requestState = await sealState(handedOffJournal, request, name)
  } catch {
    return undefined
  }
  emitHandOff(run, reason, handedOffJournal.shedCount + handedOffJournal.stopCount)
  return formatInputRequired(run, requestState)
}

function emitHandOff(run: Run, reason: HandOffReason, handOffCount: number): void {
  const { request, name } = run
  const { method, call, settings } = request
  const { loadMonitor, events } = settings
  countHandOff(loadMonitor, reason)
  events.emit?.({
    type: 'hand_off',
    call,
    method,
    name,
    reason,
    handOffCount,
    load: readCurrentLoad(loadMonitor),
  })
  emitRunEnd(run, 'handed_off')
}
