import { ledgerBounds, type LedgerKind } from '@x/core'
import type { Server } from '@x/exchange'

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

/** Returns the counts of a ledger that are not zero, although the server is idle. */
export function countIdleUsage({ ledger }: Server): readonly string[] {
  const kinds = Object.keys(ledgerBounds) as LedgerKind[]
  return kinds
    .filter((kind) => !lastingKinds.includes(kind) && ledger.usedInAll(kind) !== 0)
    .map((kind) => `${ledger.usedInAll(kind)} ${kind}`)
}
