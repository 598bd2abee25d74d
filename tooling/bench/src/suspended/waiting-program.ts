import { usedMemory } from './measure.ts'
import { makeWaitingCall, type WaitingCall } from './waiting-calls.ts'
import { waitingServers } from './waiting-servers.ts'

/** Calls before the first measurement, so that compiled code and filled caches do not count. */
const warmUp = 1000

/** Prints the bytes that waiting calls take. The arguments are the name of a server, and the number of calls. */
async function run([name = '', count = '']: readonly string[]): Promise<void> {
  const server = waitingServers.get(name)
  if (server === undefined) throw new Error(`no server ${name}`)
  const handler = server.start()
  const calls: WaitingCall[] = []
  const make = async (to: number): Promise<void> => {
    for (let user = calls.length; user < to; user += 1)
      calls.push(await makeWaitingCall(handler, server.revision, user))
  }
  await make(warmUp)
  const before = await usedMemory()
  await make(Number(count))
  const after = await usedMemory()
  process.stdout.write(JSON.stringify({ bytesPerCall: (after - before) / (Number(count) - warmUp) }))
  process.exit()
}

void run(process.argv.slice(2))
