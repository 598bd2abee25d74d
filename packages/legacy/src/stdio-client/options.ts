import type { StdioConnectOptions } from '@x/transport-stdio'
import type { DualOptions } from '../client/options.ts'

/** The options of {@link connectDualStdio}: those of `connectStdio`, and what concerns older servers. */
export interface DualStdioOptions
  extends DualOptions,
    Omit<StdioConnectOptions, 'probe' | 'onStart' | 'onRequest' | 'onNotification'> {
  /**
   * Time that a fresh process may be silent at the probe, in milliseconds, before it is sent `initialize` as an older
   * server. Default 5,000.
   */
  readonly probeTimeoutMs?: number | undefined
}

/** Returns the options of `connectStdio`, which rejects those of {@link DualOptions}. */
export function stdioOptionsOf(options: DualStdioOptions): StdioConnectOptions {
  const {
    era: _era,
    detectedRevisions: _detectedRevisions,
    answerTimeoutMs: _answerTimeoutMs,
    handshakeTimeoutMs: _handshakeTimeoutMs,
    onWarning: _onWarning,
    probeTimeoutMs: _probeTimeoutMs,
    ...stdioOptions
  } = options
  return stdioOptions
}
