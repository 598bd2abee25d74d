#!/usr/bin/env node
import { openProcessIo } from './cli-io.ts'
import { runCli } from './run-cli.ts'

const io = openProcessIo()
process.exitCode = await runCli(process.argv.slice(2), io)
if (process.exitCode !== 0) io.endIfStopped()
