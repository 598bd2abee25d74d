import { createServer } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import { echoTool } from '../http/echo-tool.ts'
import { answerCpu } from './answer-cpu.ts'

answerCpu()
serveStdio(createServer({ name: 'bench', version: '1.0.0', tools: [echoTool] }))
