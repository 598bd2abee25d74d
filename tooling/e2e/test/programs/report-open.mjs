import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

// Runs a program, and prints what is open in its process after its last line: what keeps the process alive, and TCP
// sockets, which may be open without doing so.
process.argv.splice(1, 1)
const [, program = ''] = process.argv
await import(pathToFileURL(program).href)

const links = readdirSync('/proc/self/fd').map((fd) => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // The descriptor of the folder itself.
    return ''
  }
})
const [, ...connections] = readFileSync('/proc/self/net/tcp', 'utf8').trim().split('\n')
const sockets = connections.filter((line) => links.includes(`socket:[${line.trim().split(/\s+/)[9]}]`))
console.error(`open: ${JSON.stringify([...process.getActiveResourcesInfo(), ...sockets])} end`)
