# The built site with its production packages; docs/operations.md, "Deploying", says how to run it. A test starts the last stage's
# command on the last stage's files (tests/fault/deploy.test.ts).
#
# The base is node:24-slim: its C library is the one that sharp's binary is made for, Node's updates arrive in it within days, and its shell and
# `sleep` are what "docker exec" and a preStop hook use. A distroless image saves some 70 MB and has neither.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Files of a checkout with a strict umask are for their owner only, and the site runs as another user.
RUN chmod -R a+rX package.json package-lock.json astro.config.mjs tsconfig.json public scripts src wordpress
RUN npm run build

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/setup scripts/setup
# No production package needs its install script. The stamp tells scripts/run.mjs that there is nothing to install.
RUN npm ci --omit=dev --ignore-scripts
RUN node --input-type=module --eval "import { writeFileSync } from 'node:fs'; import { stampName, wanted } from './scripts/setup/install.mjs'; writeFileSync('node_modules/' + stampName, wanted('.'))"

FROM node:24-slim
WORKDIR /app
RUN install --directory --owner=1000 --group=1000 --mode=0700 /data
COPY --from=packages /app/node_modules ./node_modules
# The server runs from its sources. The rest is what the operators' commands compare a build with: without it they would build.
COPY --from=build /app/package.json /app/package-lock.json /app/astro.config.mjs /app/tsconfig.json ./
COPY --from=build /app/public ./public
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/src ./src
COPY --from=build /app/dist ./dist
# "verify" compares the plugin's version with this one.
COPY --from=build /app/wordpress/newsroom/newsroom.php ./wordpress/newsroom/newsroom.php
# DATA_DIR is a folder in the volume, because the volume's own may belong to root and hold lost+found.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4321 DATA_DIR=/data/site
# The image's user "node", as a number, so that Kubernetes can see that it isn't root.
USER 1000:1000
VOLUME ["/data"]
EXPOSE 4321
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "src/server/main.ts"]
