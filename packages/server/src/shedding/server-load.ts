import type { Undrain } from '@x/schema'
import { isAtHardLimit } from './check-capacity.ts'
import { type LoadMonitor, loadOf, sampleLoad } from './load-monitor.ts'
import type { ServerLoad } from './shedding-options.ts'

/** For how long a server may be over a limit of readiness before balancers should pass it over. */
const unreadyAfterMs = 5000

/** Hands running calls off from now on; returns the function that takes it back. */
export function beginDrain(monitor: LoadMonitor): Undrain {
  let lasts = true
  monitor.drains++
  monitor.draining++
  return () => {
    if (lasts) monitor.draining--
    lasts = false
  }
}

/** A snapshot of a server's load. */
export function serverLoad(monitor: LoadMonitor): ServerLoad {
  sampleLoad(monitor)
  const { sheds, rejected, resumed } = monitor
  const draining = monitor.draining > 0
  return {
    ready: !draining && !isAtHardLimit(monitor) && !isUnreadyForLong(monitor),
    draining,
    ...loadOf(monitor),
    counters: { sheds: { ...sheds }, rejected, resumed },
  }
}

function isUnreadyForLong({ unreadySince, source }: LoadMonitor): boolean {
  return unreadySince !== undefined && source.now() - unreadySince >= unreadyAfterMs
}
