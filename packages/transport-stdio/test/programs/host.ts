import { connectStdio } from '@x/transport-stdio'

// Starts the given program, prints its process id, and keeps running.
const connection = connectStdio({ command: process.execPath, args: process.argv.slice(2), stderr: 'inherit' })
await connection.start()
process.stdout.write(`${connection.process.pid}\n`)
setInterval(() => {}, 1000)
