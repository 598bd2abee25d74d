npm init --yes
npm install @x/server @x/transport-stdio @x/transport-http @x/legacy zod
npm install --save-dev @x/cli @x/client @x/testing
