import type { StartedProcess } from '@x/transport-stdio'
import { createInternalCall, type LegacyTransport } from '../client/legacy-transport.ts'

/**
 * Carries the messages of one session over the streams of one process, which is its session (2025-11-25,
 * basic/transports).
 */
export function createStdioWire(process: StartedProcess): LegacyTransport {
  return {
    // Requests of the server name no call; they come to the session, which knows the latest.
    request: (request, signal, { onNotification }) =>
      process.exchange(request, createInternalCall(signal, onNotification)),
    notify: async (message) => process.notify(message),
    // Notifications outside of calls come to the session by themselves, for as long as the process runs.
    listen: async () => ({ ended: new Promise(() => {}) }),
  }
}
