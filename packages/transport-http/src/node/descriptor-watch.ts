import { keepProcessWithoutStderr, type Log } from '@x/core'
import { close, open } from 'node:fs'
import { devNull } from 'node:os'
import type { Server } from 'node:http'

const checkDelayMs = 1_000
const reportIntervalMs = 60_000
const advice = 'raise the limit of the process (ulimit -n)'

/**
 * Warns, at most once a minute, if the process has no free file descriptor. The system then closes new connections
 * without an event, so the only way to notice is to open a descriptor, one second after each burst of connections.
 */
export function watchDescriptors(server: Server, log: Log): void {
  // The application's own log may write to the standard error too.
  keepProcessWithoutStderr()
  let timer: NodeJS.Timeout | undefined
  const check = (): void => {
    open(devNull, 'r', (error, descriptor) => {
      timer = undefined
      if (error === null) return close(descriptor)
      if (error.code !== 'EMFILE' && error.code !== 'ENFILE') return
      const message = `No file descriptor is left (${error.code}), so new connections are closed: ${advice}`
      log({ level: 'warn', method: 'http', code: 'descriptors', message })
      timer = setTimeout(check, reportIntervalMs).unref()
    })
  }
  server.on('connection', () => {
    timer ??= setTimeout(check, checkDelayMs).unref()
  })
  server.once('close', () => clearTimeout(timer))
}
