#!/usr/bin/env node
import { serveStdio } from '@x/transport-stdio'
import { server } from './server.js'

serveStdio(server)
