import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { answerQuestions } from '../http/answer-questions.ts'
import { officialEcho } from '../http/official.ts'

const handler = officialEcho()
const hosts = localhostAllowedHostnames()
const origins = localhostAllowedOrigins()

// The checks of Host and Origin are part of what our handler does, so they stand in front here as its documentation
// says.
answerQuestions(
  createServer(
    getRequestListener((request) => {
      const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
      return refusal ?? handler.fetch(request)
    }),
  ),
)
