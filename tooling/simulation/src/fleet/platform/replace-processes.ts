import childProcess from 'node:child_process'
import fs from 'node:fs'
import { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import timers from 'node:timers/promises'
import type { Host } from './virtual-time.ts'

/**
 * Lets the servers of `node:http` listen at the simulated process that starts them, which also starts child processes.
 * Everything else of these servers is real: parsing, responses, and what a stop does with connections.
 */
export function replaceProcesses(currentHost: () => Host | undefined): void {
  const closers = new WeakMap<Server, () => void>()
  function listen(this: Server, port: number, address: string, onListening: () => void): Server {
    const host = currentHost()
    if (host === undefined) throw new Error('Only a simulated process can listen')
    const open = new Set<Duplex>()
    const emitIfDrained = (): void => void (host.accept === undefined && open.size === 0 && this.emit('close'))
    this.address = () => ({ port, address, family: 'IPv4' })
    host.accept = (socket) => {
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        emitIfDrained()
      })
      this.emit('connection', socket)
    }
    closers.set(this, () => {
      host.accept = undefined
      process.nextTick(emitIfDrained)
    })
    host.onRemoved.push(() => this.close())
    process.nextTick(() => {
      this.emit('listening')
      onListening()
    })
    return this
  }
  function close(this: Server): Server {
    closers.get(this)?.()
    return this
  }
  Object.assign(Server.prototype, { listen, close })
  Object.assign(childProcess, { spawn: () => currentHost()?.spawn?.() })
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  // A real immediate would run when the step of another process has begun, and its timers would be those of that process.
  Object.assign(timers, { setTimeout: sleep, setImmediate: () => sleep(0) })
  // The check for free descriptors would end at a real time.
  const open = (_path: string, _flags: string, callback: (error: null, descriptor: number) => void): void =>
    callback(null, -1)
  Object.assign(fs, { open, close: () => {} })
}
