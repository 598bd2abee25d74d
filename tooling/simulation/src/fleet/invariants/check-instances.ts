import { ledgerBounds, type LedgerKind } from '@x/core'
import type { Fleet } from '../fleet/fleet.ts'
import type { ReportViolation } from './violations.ts'

/** Kinds that a store counts, or that an instance counts after the end of its calls. */
const lastingKinds: readonly LedgerKind[] = [
  'sessions',
  'ended_sessions',
  'uris',
  'tasks',
  'states',
  'bytes',
  'streams',
  'topics',
  'upstream_connections',
]

/** Reports what the ledgers of idle instances still count. */
export function checkIdle(fleets: readonly Fleet[], report: ReportViolation): void {
  const kinds = (Object.keys(ledgerBounds) as LedgerKind[]).filter((kind) => !lastingKinds.includes(kind))
  for (const { host, server } of fleets.flatMap(({ instances }) => instances))
    for (const kind of kinds) {
      const used = server.ledger.usedInAll(kind)
      if (used !== 0) report('quotas', `${host.name} still counts ${used} ${kind}`)
    }
}

/** Reports gateways that are not ready. No call has reached them since their upstreams were away. */
export function checkReady(fleets: readonly Fleet[], report: ReportViolation): void {
  for (const { name } of fleets.flatMap((fleet) => fleet.findUnready()))
    report('upstreams', `${name} has not seen that its upstreams are back`)
}
