import { existsSync, readFileSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'

// Loaded into a server with --import. The first call of a tool removes the file of the environment variable
// CALL_FILE, and ends the process with the signal whose name is in the file. So a test knows that the call has arrived.
const { CALL_FILE: file = '' } = process.env
const { push } = Readable.prototype

Readable.prototype.push = function pushChunk(chunk, encoding) {
  if (existsSync(file) && String(chunk).includes('"tools/call"')) {
    const signal = readFileSync(file, 'utf8')
    rmSync(file)
    if (signal !== '') process.kill(process.pid, signal)
  }
  return push.call(this, chunk, encoding)
}
