import { connectStdio } from '@x/transport-stdio'

// Starts the program that it is given, tells its process, and stays.
const connection = connectStdio({ command: process.execPath, args: process.argv.slice(2), stderr: 'inherit' })
await connection.start()
process.stdout.write(`${connection.process.pid}\n`)
setInterval(() => {}, 1000)
