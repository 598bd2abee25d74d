import { connect } from 'node:net'
import { createServer } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

// The program opens resources that it does not close, as one with a database client does.
setInterval(() => {}, 1_000_000)
const { DATABASE_PORT } = process.env
if (DATABASE_PORT !== undefined) connect(Number(DATABASE_PORT), '127.0.0.1')
const { url } = await serveHttp(createServer({ name: 'demo', version: '1.0.0' }), { stopOnSignals: true })
process.stdout.write(`${url}\n`)
