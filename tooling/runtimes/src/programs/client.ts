import { argv } from 'node:process'
import { connectHttp } from '@x/transport-http/client'
import { runChecks } from '../checks.ts'

// Node, Bun and Deno run this program, each with the entry that its own conditions select.
await using connection = connectHttp(argv[2] ?? '')
console.log(JSON.stringify(await runChecks(connection)))
