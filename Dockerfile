# A static binary on a base without a shell. The data directory is /data.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/memd ./cmd/memd \
 && install -d -m 0700 /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/memd /usr/local/bin/memd
COPY --from=build --chown=65532:65532 /out/data /data
ENV MEMD_DIR=/data
VOLUME /data
EXPOSE 6363
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/usr/local/bin/memd", "doctor", "--quick"]
ENTRYPOINT ["/usr/local/bin/memd"]
CMD ["serve"]
